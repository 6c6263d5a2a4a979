"""
Hide the local model from all tests, whether it is installed or not.

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

_REAL, _EMPTY = "LOCAL_MODEL_OF_THE_TESTS", "NO_LOCAL_MODEL_OF_THE_TESTS"  # told to the processes that these start

INSTALLED = Path(os.environ[_REAL]) if _REAL in os.environ else prepare.installed()

if INSTALLED is not None:
    if _EMPTY not in os.environ:
        empty = tempfile.mkdtemp(prefix="yiku-no-weights-")
        atexit.register(shutil.rmtree, empty, ignore_errors=True)
        Path(empty, prepare.PACKAGE).mkdir()
        Path(empty, prepare.PACKAGE, "__init__.py").touch()
        os.environ |= {_REAL: str(INSTALLED), _EMPTY: empty}
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [empty, os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, os.environ[_EMPTY])
