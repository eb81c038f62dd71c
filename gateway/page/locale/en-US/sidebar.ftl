# Every word of the sidebar and of the page that the gateway serves.

## The frame

sessions = Sessions
new-question = New question
close = Close
keep = Keep
save = Save
loading = Loading…
try-again = Try again
preferences = Preferences
ask-library = Ask your library
welcome = Zocrates searches your own papers, shows each step, and cites the page of every claim.

gate-title = { $why ->
    [UNAUTHENTICATED] This needs its key
    [LINK_EXPIRED] This link was used already
    [away] The service is away
   *[wrong] Something is wrong
  }
key-by-link = The page gets its key through an address that works once. In a terminal, type
key-by-link-then = and open the address that it prints. “zocrates up” prints one too when it starts.
key-by-preferences = The key in the preferences is not the one that the service asks for. Leave it empty, and it is read from the file that the service writes when it starts.
away-run = The gateway is away. Nothing is lost; this goes on as soon as it is back…

## First run

first-start-title = Start the service
first-start = It runs on this machine and is found by itself. In a terminal, type
first-running = It is running, and was found by itself.
first-private-title = What leaves this machine
first-private = Nothing, until you configure a language model. Then your question and the passages that it reads go to that model, and nowhere else.
first-offline-title = It works offline
first-offline = Without a language model the answer is made of quoted sentences from your papers, and says so. “zocrates configure” adds a model, also one on this machine.
first-done = Understood

## The composer

your-question = Your question
ask = Ask
ask-key = Ask (Ctrl or Cmd and Enter)
stop = Stop
stop-hint = Cancel this run; its steps stay visible
decide-first = Decide above first
options = How to answer
options-button = { $chosen ->
    [0] Options
   *[other] Options ({ $chosen })
  }
review-plan = Review the plan first
review-plan-hint = You see how the search is planned, and approve it.
strategy = Strategy
strategy-name = { $name ->
    [quick] Quick: one short search
    [standard] Standard
    [deep] Deep: extends by itself
    [academic] Academic: as deep, more careful
   *[usual] As configured
  }
ask-before = Ask me before extending
ask-before-hint = Otherwise the answer is written with what the first search found.

## What is searched

scope = What is searched
scope-all = Whole library
scope-change = Change
scope-hint = Kinds narrow each other: a collection and a tag search what is in both. Counts are of items.
scope-find = Collection, tag or paper
scope-remove = Remove { $title }
scope-total = { $items ->
    [one] 1 item in all of these
   *[other] { $items } items in all of these
  }
scope-chip = { $kind ->
    [text] “{ $title }”
    [tag] #{ $title }
   *[other] { $title }
  }
scope-chip-count = { $kind ->
    [tag] #{ $title } · { $count }
   *[other] { $title } · { $count }
  }
scope-group = { $kind ->
    [offered] Open in Zotero
    [library] Libraries
    [collection] Collections
    [search] Saved searches
    [tag] Tags
   *[paper] Papers
  }
scope-more = And { $more } more.
scope-unsupported = Only Zotero can evaluate: { $conditions }
items = { $items ->
    [one] 1 item
   *[other] { $items } items
  }

## A turn

edit = Edit the question and ask again
edit-takes-later = Asking again takes all later questions back.
ask-again = Ask again
cancel = Cancel
continue-run = Continue this run
take-back = Take back
take-back-this = Take this question back?
take-back-later = Take this question and all later ones back?
state-queued = Starting
stage = { $stage ->
    [converse] Understanding the question
    [plan] Planning
    [search] Searching the library
    [rerank] Choosing the best passages
    [synthesize] Writing the answer
    [verify] Checking the citations
   *[none] Working
  }
state-standing = { $state ->
    [AWAITING_INPUT] Waiting for your decision
    [PAUSED] Paused
    [CANCELLED] Cancelled
    [EXPIRED] The time to decide is over
   *[DELETED] This session was deleted
  }
reasoning = Reasoning
report = Report of the search
gaps = Not found in the library

## The work

work = How this was found
work-so-far = { $calls } of { $callLimit } calls · { $words } of { $wordLimit } words
work-done = { $calls ->
    [one] 1 call
   *[other] { $calls } calls
  } · { $words ->
    [one] 1 word
   *[other] { $words } words
  } read
work-kept = { $kept } of { $considered ->
    [one] 1 passage
   *[other] { $considered } passages
  } kept
meter-calls = Calls
meter-words = Words read
meter-passages = Passages kept
meter-tokens = Tokens
of = { $value } of { $limit }
tool = { $tool ->
    [search_corpus] Search
    [get_document_toc] Contents of
    [read_document] Read
    [conclude_search] Concluded
    [request_search_extension] Asked for more
   *[other] { $tool }
  }
quoted = “{ $text }”
step-running = running…
step-failed = no result
passages = { $passages ->
    [one] 1 passage
   *[other] { $passages } passages
  }
words = { $words ->
    [one] 1 word
   *[other] { $words } words
  }
documents = { $documents ->
    [one] 1 document
   *[other] { $documents } documents
  }

## Checkpoints

decision-needed = A decision is needed
sending = Sending your decision…
approve = Approve
reject = Reject
extension = Deep Research: Extension { $number } of { $most }
covered = Covered so far
not-covered = Not covered yet
why-more = Why more search would help
found-so-far = Found { $passages ->
    [one] 1 passage
   *[other] { $passages } passages
  } in { $documents ->
    [one] 1 document
   *[other] { $documents } documents
  }.
extent = { $used } of { $limit } → { $next }
extent-label = { $title }: { $used } of { $limit } used, { $next } with an extension
expires = Open until { $time }.
guidance = Guidance for the search (optional)
guidance-hint = Aspect, table, author or method to look for
extend = Grant Deep Research Extension
adds-calls = { $more ->
    [one] +1 call
   *[other] +{ $more } calls
  }
adds-words = { $more ->
    [one] +1 word
   *[other] +{ $more } words
  }
adds-tokens = { $more ->
    [one] +1 token
   *[other] +{ $more } tokens
  }
adds-passages = { $more ->
    [one] +1 passage
   *[other] +{ $more } passages
  }
synthesize = Synthesize Response with Existing Evidence
decisions = Decisions
decided-extension = { $action ->
    [extend_budget] Extension { $number } of { $most } granted
   *[synthesize] Extension { $number } of { $most } not granted: answered with the existing evidence
  }
decided = { $action ->
    [extend_budget] Extension granted
    [synthesize] Answered with the existing evidence
    [reject] Rejected
   *[approve] { $kind ->
    [plan_review] Plan approved
   *[other] Approved
  }
  }
decided-by = { $what } by { $by }
decided-by-expiry = { $what }, as the time to decide was over
decided-by-strategy = { $what }, as the strategy does by itself
decided-elsewhere = { $what }, elsewhere

plan-review = Review of the research plan
plan-badge = { $round ->
    [0] Research plan
   *[other] Research plan: round { $round } of { $most }
  }
plan-approve = Approve and Search
plan-feedback = Send Feedback
planning = Waiting for the planner…
feedback = Feedback on the plan
feedback-hint = What to add, leave out, or do in another order
plan-changed = What changed from version { $from } to { $to }
plan-changed-elsewhere = Changed elsewhere since you read it: version { $from } to { $to }
rounds = { $rounds ->
    [one] 1 earlier message
   *[other] { $rounds } earlier messages
  }
round-by = { $author ->
    [planner] Planner, round { $round }
   *[person] You, round { $round }
  }

## Sources

sources = Sources
chip = Source { $number }: { $title }, { $place }, { $support }
page = p. { $label }
page-short = p.
no-pages = no pages
support = { $support ->
    [verified] Verified
    [weak] Weak
    [unsupported] Not supported
   *[unchecked] Unchecked
  }
support-meaning = { $support ->
    [verified] The quote stands on this page, word for word, and carries the sentence.
    [weak] The quote stands on this page; whether it carries the sentence is not certain.
    [unsupported] The quote does not carry the sentence.
   *[unchecked] This citation could not be checked.
  }
judged-by = Judged by { $judge }.
reading = { $state ->
    [abstract_only] Of this source only the abstract was read.
   *[partial] This source was read in part.
  }
open-page = Open the page
show-passage = Show the passage
open-in-zotero = Open in Zotero
select-item = Select in Zotero
passage-text = Text of the passage
written-by = Written by { $model }
verified-count = { $verified } of { $citations ->
    [one] 1 citation
   *[other] { $citations } citations
  } verified
seconds = { $seconds } s
tokens = { $tokens ->
    [one] 1 token
   *[other] { $tokens } tokens
  }

## Afterwards

take-along = Take along
save-note = Save as note
copy-markdown = Copy Markdown
copy-bibtex = Copy BibTeX
copy-csl = Copy CSL
copied = Copied.
saved = Saved.
saved-at = Saved: { $where }
failed = That did not work: { $reason }
evidence = { $papers ->
    [one] Evidence from 1 paper
   *[other] Evidence from { $papers } papers
  }
chart-cited = passages cited
chart-found = passages found
chart-row = { $cited } of { $found } cited
chart-section = { $section } { $cited }
chart-no-section = (no section)
chart-more = { $papers ->
    [one] And 1 more paper, of which nothing is cited or little was found.
   *[other] And { $papers } more papers, of which nothing is cited or little was found.
  }

## Sessions

find-session = Find a session
find-session-label = Find a session by its title
older = Older
no-sessions = No questions yet.
no-such-session = No title holds these words.
rename = Rename
delete = Delete
rename-session = Rename “{ $title }”
delete-session = Delete “{ $title }”
title = Title
delete-ask = Delete “{ $title }”?
delete-warning = Delete “{ $title }” with all its questions? Nothing brings it back.
clear-all = Delete all sessions…
clear-all-warning = Delete every session with all its questions and answers? Nothing brings them back. Your library is not touched.
clear-all-yes = Delete all
clearing = Deleting…

## The library

library = Library…
library-title = Library
library-none = No library
library-away = Library: away
library-line = { $kind ->
    [demo] Demo library ·{" "}
   *[zotero] {""}
  }{ $documents ->
    [one] 1 document
   *[other] { $documents } documents
  }
library-vectors = vectors { $done } of { $total }
source-kind = { $kind ->
    [demo] Invented demo library
    [local_api] Running Zotero
    [web_api] Zotero’s server
    [sqlite] Zotero data folder
   *[other] { $kind }
  }
source-none = none
never = not yet
fact-source = Source
fact-folder = Place
fact-program = Program
fact-synced = Last read
fact-items = Items
fact-documents = Documents
fact-full = Read in full
fact-part = Read in part
fact-abstract = Abstract only
fact-unreadable = Unreadable
fact-vectors = Vectors
fact-encoder = Encoder
fact-ranking = Ranked by
fact-support = Support judged by
fact-search-agent = Searched by
fact-writer = Written by
fact-last-error = Last error
sync = Bring up to date
sync-stop = Stop reading
sync-progress = Progress of reading the library
sync-done = Up to date.
sync-failed = The library could not be read.
sync-phase = { $phase ->
    [snapshot] Reading the library
    [text] Reading texts
    [vectors] Computing vectors
   *[other] { $phase }
  }
sync-phase-count = { $phase ->
    [snapshot] Reading the library
    [text] Reading texts
    [vectors] Computing vectors
   *[other] { $phase }
  } { $done } of { $total }
skipped = Not read, or not all of it: { $documents ->
    [one] 1 document
   *[other] { $documents } documents
  }
skip-group = { $name } ({ $documents })
retry-skipped = Try these again
reason = { $reason ->
    [file_missing] File missing
    [encrypted] Encrypted
    [image_only] Pictures only, no text
    [damaged] Damaged file
    [unsupported_type] Kind of file not supported
    [too_large] Too large
    [timed_out] Took too long
    [base_folder_unknown] Base folder unknown
    [outside_library] Outside the library
    [changing] Being written
   *[no_unicode_map] Text without a character map
  }
remedy = { $reason ->
    [file_missing] Let Zotero download the file (open it once), or find it with “Locate”; then try again.
    [encrypted] Save a copy without a password in its place, then try again.
    [image_only] Run text recognition over the file and keep the copy with a text layer, then try again.
    [damaged] Get the file again from its source, then try again.
    [too_large] Raise the limit in the configuration, or attach only the part that you need.
    [timed_out] Try again while the machine is less busy.
    [changing] Wait until it is no longer being written, then try again.
    [base_folder_unknown] Set Zotero’s base folder for linked files, or tell it to the service.
   *[no_unicode_map] Run text recognition over the file, so that its letters can be read.
  }
local-api-offer = Zotero can answer the service directly, so that changes are seen at once. That is off until you allow it.
local-api-allowed = Zotero answers the service directly.
allow-local-api = Allow and use it
use-local-api = Read from this Zotero
use-this-folder = Read its data folder instead
source-chosen = The library is read from there now.

## Errors that have words of their own

error-unreachable = The gateway cannot be reached.
error-peer-down = A part of the service is away. Try again in a moment.
error-peer-timeout = A part of the service did not answer in time.
error-version-conflict = It has changed since you read it. What changed is shown; decide again.
error-feedback-in-progress = Somebody else’s feedback is being worked on. Wait for it, then decide.
error-checkpoint-expired = The time to decide is over.
error-sync-stopped = Stopped. What was read stays; the next time goes on there.
error-limit-reached = Too much at once. Try again in a moment.
