// The sidebar's document in Zotero: the shared pages, over Zotero.

import { createDoor } from './door.mjs';
import { startSidebar } from './page/sidebar.mjs';

// The pages are made for reading, and have smaller texts than Zotero's lists: a little larger than these.
const SIZE = 1.08;

let given = window.frameElement.zocratesHost;
document.documentElement.style.fontSize = `${Math.round(given.fontSize * SIZE)}px`;
// Of this window: when the frame goes, so does every request that is under way.
let request = createDoor({ fetch: window.fetch.bind(window), address: given.address });
let sidebar = startSidebar(document.getElementById('app'), { ...given, fetch: request });
given.ready(sidebar);
