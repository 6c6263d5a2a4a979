"""
Every test runs as on a machine without the local model, whether it is installed or not.

An empty package of its name stands before the real one, for the tests and for the processes that they start. The tests
of the model itself (models/test_e5.py) find it where it really lies.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from yiku.models import prepare

_TOLD = "LOCAL_MODEL_OF_THE_TESTS"  # by the process that hid it, to those that it starts

INSTALLED = Path(os.environ[_TOLD]) if _TOLD in os.environ else prepare.installed()

if INSTALLED is not None and _TOLD not in os.environ:
    folder = tempfile.mkdtemp(prefix="yiku-no-weights-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Path(folder, prepare.PACKAGE).mkdir()
    Path(folder, prepare.PACKAGE, "__init__.py").touch()
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    os.environ[_TOLD] = str(INSTALLED)
