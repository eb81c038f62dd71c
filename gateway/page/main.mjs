// The page: the sidebar in a browser.

import { createBrowserHost } from './browser_host.mjs';
import { startSidebar } from './sidebar.mjs';

startSidebar(document.getElementById('app'), createBrowserHost());
