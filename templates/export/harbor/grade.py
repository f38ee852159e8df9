"""Grade the agent's goal file: run it as another user, compare as root, write the reward.

``judge.py`` next to this file selects recorded calls (``cases.py``) or a test script (``script.py``).

Standard library only, Python 3.7: it runs in the image of the task. The golden goes first. Where it fails, the
environment is broken and no reward is written, because a reward of 0 would blame the agent.
"""

import ctypes
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TESTS)
sys.dont_write_bytecode = True

import judge  # noqa: E402

LOGS = "/logs/verifier"
NOBODY = 65534
LARGEST_GOAL_FILE = 8 * 2**20
LARGEST_OUTPUT = 2**29
MOST_PROCESSES = 1024
NO_NEW_PRIVILEGES = 38


def main():
    os.makedirs(LOGS, exist_ok=True)
    mode = stat.S_IMODE(os.stat(LOGS).st_mode)
    # Harbor leaves the folder open to everyone and believes any reward.json in it, and /tests holds the answers.
    os.chmod(LOGS, 0o700)
    os.chmod(TESTS, 0o700)
    for name in ("reward.json", "reward.txt", "ctrf.json"):
        remove(os.path.join(LOGS, name))
    try:
        return grade()
    finally:
        kill_everything()
        os.chmod(LOGS, mode)


def grade():
    with open(os.path.join(TESTS, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    goal = os.path.join(plan["repository"], plan["goal_file"])
    answer = read_answer(goal)
    restore_goldens(plan)
    problems = replay(plan)
    if problems:
        print("no reward: the golden fails here, so the environment is broken\n" + in_words(problems))
        return 1
    print("the golden passes")
    started = time.time()
    if answer is None:
        problems = dict.fromkeys(judge.names(plan), "the goal file is missing, too large, or not a file")
    else:
        with open(goal, "wb") as file:
            file.write(with_other_goldens(answer, plan))
        problems = replay(plan)
    print(in_words(problems) or "as with the golden")
    # Harbor computes pass@k only where the reward is the one number in this file: so the cases have their own.
    write("ctrf.json", report(judge.names(plan), problems, started))
    write("reward.json", {"reward": 0.0 if problems else 1.0})
    return 0


def in_words(problems):
    return "\n".join("%s: %s" % item for item in problems.items())


def report(names, problems, started):
    """Return the cases in the Common Test Report Format, which Harbor keeps and shows: https://ctrf.io."""
    tests = []
    for name in names:
        test = {"name": name, "status": "failed" if name in problems else "passed", "duration": 0}
        tests.append(dict(test, message=problems[name]) if name in problems else test)
    summary = {"tests": len(names), "passed": len(names) - len(problems), "failed": len(problems)}
    summary.update(pending=0, skipped=0, other=0, start=int(1000 * started), stop=int(1000 * time.time()))
    return {"results": {"tool": {"name": "lmr-author"}, "summary": summary, "tests": tests}}


def read_answer(goal):
    """Return the agent's goal file; None for anything that is not a file of reasonable size."""
    try:
        found = os.lstat(goal)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_GOAL_FILE:
        remove(goal)
        return None
    with open(goal, "rb") as file:
        return file.read()


def restore_goldens(plan):
    """Put the goldens of all implementations into the repository."""
    for number, path in enumerate(plan["goal_files"]):
        target = os.path.join(plan["repository"], path)
        shutil.copyfile(os.path.join(TESTS, "goldens", str(number)), target)
        os.chmod(target, 0o644)


def with_other_goldens(answer, plan):
    """Solve the other implementations of the goal file, where the agent left them masked: the target may call them."""
    for number in range(plan["others"]):
        pair = []
        for kind in ("masked", "golden"):
            with open(os.path.join(TESTS, "others", "%d.%s" % (number, kind)), "rb") as file:
                pair.append(file.read())
        if answer.count(pair[0]) == 1:
            answer = answer.replace(pair[0], pair[1])
    return answer


def replay(plan):
    """Return how the goal file in the repository differs from what is expected, by case: {} when it does not."""
    work = judge.lay_out(TESTS, plan, NOBODY)
    with open(os.path.join(plan["repository"], plan["goal_file"]), "rb") as file:
        judge.point_at(work, file.read(), plan)
    home = os.path.join(work, "home")
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    output = os.path.join(TESTS, "output")
    environment = dict(os.environ, HOME=home, TMPDIR=home, **judge.environment(plan))
    try:
        with open(output, "wb") as stdout:
            process = subprocess.Popen(
                judge.command(plan),
                cwd=plan["repository"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=judge.STDERR,
                preexec_fn=become_nobody,
            )
            try:
                process.wait(plan["seconds"])
            except subprocess.TimeoutExpired:
                print("out of time")
            finally:
                kill_everything()
                process.wait()
        # Nothing of the agent may be left when expected values are read: neither processes nor code.
        remove_everything()
        restore_goldens(plan)
        return judge.differences(TESTS, output, plan, process.returncode)
    finally:
        remove(work)
        remove(output)


def become_nobody():
    """Give up root in the new process, for good: programs with the setuid bit give nothing back."""
    os.setsid()
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_OUTPUT, LARGEST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def kill_everything():
    """Kill all processes of the user that ran the agent's code, with one signal that none can outrun."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def remove_everything():
    """Remove what that user left where everyone may write."""
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if entry.stat(follow_symlinks=False).st_uid == NOBODY:
                remove(entry.path)


def remove(path):
    """Remove a file or folder, if it exists."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)


def write(name, document):
    path = os.path.join(LOGS, name)
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(document, file)
    os.chmod(path + ".new", 0o644)
    os.rename(path + ".new", path)


if __name__ == "__main__":
    sys.exit(main())
