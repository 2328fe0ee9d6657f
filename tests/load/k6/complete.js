// Ten reviewers Complete, all 200 answers each time. Run as save.js.

import { QUESTIONS, Session } from './session.js';

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    'http_req_duration{name:complete}': ['p(95)<300'],
    checks: ['rate==1'],
  },
};

let session;

export default function complete() {
  if (!session) session = new Session(__VU, QUESTIONS);
  session.send('complete');
}
