import subprocess
import sys


def printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_starts_no_backend_imports_no_ipython_and_spawns_nothing():
    code = """
import sys, threading
import kernel_magics
from jax.extend.backend import backends
from jax._src import xla_bridge
print(bool(xla_bridge._backends), "IPython" in sys.modules, "ipywidgets" in sys.modules,
      threading.active_count())
"""
    assert printed(code) == "False False False 1"


def test_loading_the_extension_starts_no_backend():
    code = """
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "kernel_magics")
from jax._src import xla_bridge
print(bool(xla_bridge._backends))
"""
    assert printed(code).endswith("False")


def test_first_cell_of_a_fresh_process_works():
    code = """
import kernel_magics as km
text = "func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense<7> : tensor<i32> return %0 : tensor<i32> }"
print(km.hlo_call(text.replace("> return", ">\\n return"))[0])
"""
    assert printed(code) == "7"
