#!/bin/sh
# Run by Harbor as root in a fresh copy of the image; the agent's goal file is all that came along.
# -I: neither the current folder nor the environment decides what is imported here.
exec python -I /tests/grade.py
