"""Console entry point. Nothing is imported before the command is known."""


def main() -> None:
    """Run the command line."""
    from yiku.interfaces.cli import run

    run()


if __name__ == "__main__":
    main()
