"""The backend `local`: supervisors as child processes of this one."""
