"""Calls that draw noise, recorded and repeated while a mechanism runs: patched at run time, put back afterwards."""

from dpaudit.sources.noise.recorder import NoiseCall, Recorder, record_noise

__all__ = ["NoiseCall", "Recorder", "record_noise"]
