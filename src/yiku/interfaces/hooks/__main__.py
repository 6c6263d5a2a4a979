"""
Entry point of the hook, started without `site`: `python -E -P -S …/interfaces/hooks/__main__.py EVENT --agent NAME`.

Without `site` a tenth of a second is saved on a busy machine, so this file finds the package by its own place.
"""

import sys

if __name__ == "__main__":
    package = __file__.rsplit("/", 3)[0]
    sys.path.append(package.rsplit("/", 1)[0])
    from yiku.interfaces.hooks.capture import main

    main(sys.argv[1:])
