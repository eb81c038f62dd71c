// The sidebar's document in Zotero: the shared pages, over Zotero.

import { createDoor } from './door.mjs';
import { startSidebar } from './page/sidebar.mjs';

let given = window.frameElement.zocratesHost;
// Of this window: when the frame goes, so does every request that is under way.
let request = createDoor({ fetch: window.fetch.bind(window), address: given.address });
let sidebar = startSidebar(document.getElementById('app'), { ...given, fetch: request });
given.ready(sidebar);
