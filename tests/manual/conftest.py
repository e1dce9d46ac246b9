"""The page's modules in Node, as its own tests ask them."""

from tests.web.conftest import pages as pages
