#!/usr/bin/env python3
"""run_batch.py HANGSCOPE [--only NAME]: many jobs as a fleet - found, judged, resumed, put together.

NAME is a module (many, fleet, poison, finger) or a test in one. Tests of what this machine cannot do are
named as skipped.
"""

import sys

import batch_finger
import batch_fleet
import batch_lab
import batch_many
import batch_poison

MODULES = [batch_many, batch_fleet, batch_poison, batch_finger]


def in_folder(function, lab):
    with batch_lab.folder() as folder:
        function(lab, folder)


if __name__ == "__main__":
    sys.exit(batch_lab.main(__doc__, MODULES, batch_lab.Lab, in_folder))
