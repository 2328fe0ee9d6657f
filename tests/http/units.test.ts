import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ok, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

type Change = Schemas['AnswerChange'];

const asked: Schemas['QuestionInput'][] = [
  { id: 'treatment', label: 'Which treatment?', kind: 'unit' },
  { id: 'cohort', label: 'Which cohort?', kind: 'unit', required: true },
  { id: 'control', label: 'Is it a control?', kind: 'boolean', unit: 'cohort', required: true },
  { id: 'given', label: 'What were they given?', kind: 'reference', target: 'treatment', required: true, parent: { questionId: 'control', anyOf: ['false'] } },
  { id: 'outcome', label: 'Which outcome?', kind: 'unit', unit: 'cohort' },
  { id: 'weights', label: 'The weights', kind: 'series', unit: 'outcome', required: true },
  { id: 'signs', label: 'Which signs?', kind: 'multichoice', split: true, options: [{ id: 'fever', label: 'Fever' }, { id: 'pain', label: 'Pain' }] },
  { id: 'since', label: 'Since when?', kind: 'text', parent: { questionId: 'signs' } },
];

test('instances, a reference, a series and chosen options are saved by the generated client, and taken back', async () => {
  const review = await Review.create(daemon);
  const { form, stage } = await review.addForm({ target: 2 }, asked);
  await review.addStudies([{ title: 'A study of rats' }]);
  const ada = await review.member('reviewer');
  const path = { project: review.project, study: review.studies[0]!, form };
  const [aspirin, rats, weight] = [randomUUID(), randomUUID(), randomUUID()];
  const cohort = [{ question: 'cohort', element: rats }], outcome = [...cohort, { question: 'outcome', element: weight }];
  const points: Schemas['AnswerPoint'][] = Array.from({ length: 300 }, (_, i) => ({ time: `${i}.5`, average: `${200 + i}`, error: '0.40' }));
  const answers: Change[] = [
    { question: 'weights', path: outcome, value: points, baseRevision: null },
    { question: 'outcome', path: outcome, value: 'Body weight', baseRevision: null },
    { question: 'cohort', path: cohort, value: 'Treated rats', baseRevision: null },
    { question: 'control', path: cohort, value: false, baseRevision: null },
    { question: 'given', path: cohort, value: [aspirin], baseRevision: null },
    { question: 'treatment', path: [{ question: 'treatment', element: aspirin }], value: 'Aspirin 100 mg', baseRevision: null },
    { question: 'signs', path: [{ question: 'signs', element: 'pain' }], value: true, baseRevision: null },
    { question: 'since', path: [{ question: 'signs', element: 'pain' }], value: 'Day 2', baseRevision: null },
  ];
  const completed = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/complete', {
    params: { path, header: review.header() }, body: { stage, formVersion: 1, baseVersion: null, draft: null, answers },
  }));
  assert.equal(completed.answerCount, answers.length);

  const session = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session', { params: { path } }));
  const sorted = (list: unknown[]) => list.map(one => JSON.stringify(one)).sort();
  assert.deepEqual(sorted(session.answers.map(({ question, path, value }) => ({ question, path, value }))),
    sorted(answers.map(({ question, path, value }) => ({ question, path, value }))));

  const without = (withdrawn: Schemas['AnswerPlaceInput'][]) =>
    ({ stage, formVersion: 1, baseVersion: completed.versionId, draft: null, answers: [], withdrawn });
  const problem = await ada.refused('ValidationFailed', 'POST', `${review.session(path.study, form)}/save`,
    { body: without([{ question: 'treatment', path: [{ question: 'treatment', element: aspirin }] }]) });
  const [error] = (problem as any).errors;
  assert.deepEqual([error.code, error.question, error.path, error.expected, error.found], ['brokenReference', 'given', cohort, 'treatment', aspirin]);

  const left = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/save', {
    params: { path, header: review.header() }, body: without([{ question: 'cohort', path: cohort }]),
  }));
  assert.equal(left.answerCount, 3, 'the treatment, the option and what hangs under it');
});

test('what a definition may not repeat under is told at its place', async () => {
  const review = await Review.create(daemon);
  const questions = [...asked, { id: 'odd', label: 'Odd', kind: 'text', unit: 'treatment', parent: { questionId: 'control' } }];
  const made = await review.admin.post(`${review.path}/forms`, { name: 'Odd', capacity: { target: 2 }, questions });
  const problem = await review.admin.refused('ValidationFailed', 'POST', `${review.path}/forms/${made.json.id}/publications`, { body: { baseVersion: 1 } });
  assert.deepEqual((problem as any).errors.map((one: any) => [one.pointer, one.code]), [['/questions/8/parent/questionId', 'parentOutOfReach']]);
});
