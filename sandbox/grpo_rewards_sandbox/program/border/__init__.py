"""The border between tests and candidate: only plain data crosses; objects go as handles. Never pickle or marshal."""
