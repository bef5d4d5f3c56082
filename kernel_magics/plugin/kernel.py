"""The plugins of this kernel: one manager for all who need one."""

from kernel_magics.plugin.manager import PluginManager

plugins = PluginManager()
"""`km.plugins`."""
