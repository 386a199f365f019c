"""The grey-box auditor of code that adds noise to what it computes: runs with recorded and prescribed noise."""
