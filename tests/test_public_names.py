import importlib
import inspect
import pkgutil

import kernel_magics as km

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(km.__path__, "kernel_magics.")
]


def test_contract_is_kept():
    for name in ("hlo_call", "load", "session", "HloFunction", "LinkReport", "KernelMagicsError"):
        assert name in km.__all__
    plugins = ("discover", "probe", "load", "forget", "use", "using", "active", "table", "compare")
    assert all(hasattr(type(km.plugins), name) for name in plugins)
    session = ("define", "functions", "module_text", "graph", "drop", "reset", "save", "restore")
    assert all(hasattr(km.Session, name) for name in session)
    function = (
        "signature",
        "text",
        "link_report",
        "graph",
        "with_vjp",
        "with_jvp",
        "with_batching",
    )
    assert all(hasattr(km.HloFunction, name) for name in function)
    assert all(hasattr(km.FunctionGraph, f"to_{form}") for form in ("json", "dot", "svg", "text"))


def test_everything_public_exists_and_is_sorted():
    assert all(hasattr(km, name) for name in km.__all__)
    assert km.__all__ == sorted(km.__all__)


def test_every_module_and_public_function_says_what_it_is():
    for module in MODULES:
        assert module.__doc__, module.__name__
        for name, value in vars(module).items():
            ours = getattr(value, "__module__", "") == module.__name__
            if (
                ours
                and not name.startswith("_")
                and (inspect.isfunction(value) or inspect.isclass(value))
            ):
                assert value.__doc__, f"{module.__name__}.{name}"


def test_error_tree_is_drawn_whole():
    from kernel_magics import errors

    drawn = errors.__doc__ or ""
    for name, value in vars(errors).items():
        if inspect.isclass(value) and issubclass(value, errors.KernelMagicsError):
            assert name in drawn
            assert issubclass(value, km.KernelMagicsError)


def test_no_file_is_too_long_to_read_in_one_sitting():
    for module in MODULES:
        lines = inspect.getsource(module).count("\n")
        assert lines <= 300, f"{module.__name__}: {lines} lines"
