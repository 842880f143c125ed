"""What jobs do, one module each. A module that is put here is found by import; nothing else registers it."""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__, f"{__name__}."):
    import_module(module.name)
