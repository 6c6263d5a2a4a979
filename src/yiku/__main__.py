"""Console entry point. Nothing is imported before the command is known."""

import sys


def main() -> None:
    """Run the command line; `yiku hook` without loading it."""
    if sys.argv[1:2] == ["hook"]:
        from yiku.interfaces.hooks import capture

        capture.main(sys.argv[2:])
    from yiku.interfaces.cli import run

    run()


if __name__ == "__main__":
    main()
