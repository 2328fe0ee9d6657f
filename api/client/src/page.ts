// What the browser knows about the page and a draft should: hidden, shown again, back online.
import type { Draft } from './draft/draft.js';

/** Let the page's life reach the draft. The answer ends it. */
export function watchPage(draft: Draft, page: Pick<Window, 'addEventListener' | 'removeEventListener' | 'document'> = window): () => void {
  const shown = () => {
    // A hidden page may be closed without a word: what is typed goes now.
    if (page.document.visibilityState === 'hidden') void draft.flush();
    else draft.wake();
  };
  const wake = () => draft.wake();
  const leave = (event: BeforeUnloadEvent) => {
    if (draft.state.unsent > 0 && !draft.state.isKeptHere) event.preventDefault();
  };
  page.document.addEventListener('visibilitychange', shown);
  page.addEventListener('online', wake);
  page.addEventListener('pageshow', wake);
  page.addEventListener('beforeunload', leave);
  return () => {
    page.document.removeEventListener('visibilitychange', shown);
    page.removeEventListener('online', wake);
    page.removeEventListener('pageshow', wake);
    page.removeEventListener('beforeunload', leave);
  };
}
