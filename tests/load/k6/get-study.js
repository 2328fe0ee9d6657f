// GET one study, ten at a time. One caller: raise --subject-in-flight, --subject-rate and --subject-burst.
//
//   k6 run -e EVIDENCED_TOKENS=t -e EVIDENCED_PROJECT=P -e EVIDENCED_STUDIES=S tests/load/k6/get-study.js

import http from 'k6/http';
import { check } from 'k6';
import { need } from './session.js';

export const options = { vus: 10, duration: '30s', thresholds: { checks: ['rate==1'] } };

const base = __ENV.EVIDENCED_URL || 'http://127.0.0.1:8080';
const url = `${base}/v1/projects/${need('EVIDENCED_PROJECT')}/studies/${need('EVIDENCED_STUDIES').split(',')[0]}`;
const headers = { Authorization: `Bearer ${need('EVIDENCED_TOKENS').split(',')[0]}` };

export default function getStudy() {
  const response = http.get(url, { headers, tags: { name: 'get-study' } });
  check(response, { 'it is there': (r) => r.status === 200 });
}
