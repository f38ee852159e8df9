from accelerate import Accelerator


def accelerator():
    """Stands for the trainer's: one process, on the CPU."""
    return Accelerator(cpu=True)
