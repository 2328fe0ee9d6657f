// Ten reviewers Save, ten changed answers at a time.
//
//   k6 run -e EVIDENCED_TOKENS=t,t,… -e EVIDENCED_PROJECT=P -e EVIDENCED_FORM=F -e EVIDENCED_STAGE=T \
//          -e EVIDENCED_STUDIES=S,S,… [-e EVIDENCED_URL=http://127.0.0.1:8080] tests/load/k6/save.js
//
// Name one study to have them all on it, ten to have each on their own. None may have a session on the form yet.

import { Counter } from 'k6/metrics';
import { Session } from './session.js';

const exhausted = new Counter('out_of_attempts');

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    'http_req_duration{name:save}': ['p(95)<150'],
    out_of_attempts: ['count==0'],
    checks: ['rate==1'],
  },
};

let session;

export default function save() {
  if (!session) session = new Session(__VU, 10);
  const response = session.send('save');
  if (response.status !== 200) exhausted.add(response.json('outcome') === 'RetryableConflict' ? 1 : 0);
}
