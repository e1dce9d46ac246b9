"""The page's modules in Node, as its own tests ask them."""

from tests.screens.web.conftest import pages as pages
