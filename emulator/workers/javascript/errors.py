"""What keeps a JavaScript Worker from starting, each with one clear message.

ConfigRefused
└── JavaScriptRefused
    ├── tools    ToolMissing · NodeMissing · PlatformUnsupported · SetupFailed
    └── source   SourceRefused
"""

from __future__ import annotations

from emulator.core.refusals import ConfigRefused


class JavaScriptRefused(ConfigRefused):
    """A JavaScript or TypeScript Worker cannot be started."""


class ToolMissing(JavaScriptRefused):
    """The project has no workerd or no esbuild, and neither has the cache."""


class NodeMissing(JavaScriptRefused):
    """Something needs Node or npm, and this machine has none."""


class PlatformUnsupported(JavaScriptRefused):
    """There is no workerd for this operating system and processor."""


class SetupFailed(JavaScriptRefused):
    """npm could not install the tools into the cache; nothing is left of the try."""


class SourceRefused(JavaScriptRefused):
    """The Worker's source cannot be bundled: a syntax error, a missing module, no `main`, a form that is not supported."""
