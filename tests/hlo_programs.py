"""HLO programs for the tests that read them."""

import numpy as np

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1

ADD = """\
HloModule m

ENTRY e {
  p = f32[2] parameter(0)
  ROOT sum = f32[2] add(p, p)
}
"""


def read_proto(text: str) -> bytes:
    from kernel_magics._jax_private import hlo_text_to_proto

    return hlo_text_to_proto(text)
