"""What the corpus' own runner calls."""

import kernel_magics as km


def hlo_call(code, *args, func="main"):
    return km.hlo_call(code, *args, func_name=func)
