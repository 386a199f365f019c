"""The vocabulary: claims, neighbouring relations, verdicts, evidence, witnesses and records."""
