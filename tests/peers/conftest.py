"""The stand-ins have the names of the libraries: `suites.py` puts them on the path of other processes."""

collect_ignore = ["stand_ins"]
