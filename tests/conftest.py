"""What every test shares."""

pytest_plugins = ["spec_report"]
