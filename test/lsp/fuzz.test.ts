/**
 * Random edits of real files through a real connection: never a crash, an error in the log, a hang, a range outside of the
 * text or a diagnostic of an earlier text. `GRADUS_FUZZ_SEED` and `GRADUS_FUZZ_EDITS` choose others than the usual ones.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alone, attempt, type Step } from "../fuzz/attempt.ts";
import { corpus, type Source } from "../fuzz/corpus.ts";
import { randomEdit } from "../fuzz/edits.ts";
import { Chance } from "../fuzz/random.ts";
import { questions } from "../fuzz/requests.ts";
import { Session } from "../fuzz/session.ts";
import { shrink } from "../fuzz/shrink.ts";
import { count } from "../support/thorough.ts";

const seed = Number(process.env["GRADUS_FUZZ_SEED"] ?? 1);
const edits = Number(process.env["GRADUS_FUZZ_EDITS"] ?? count(200, 2000));
const editsOfOneFile = 10;

const names = Object.keys(questions);

function randomStep(text: string, chance: Chance, others: readonly string[]): Step {
  const edit = randomEdit(text, chance, others);
  const length = text.length - (edit.end - edit.start) + edit.text.length;
  const near = edit.start + edit.text.length;
  const at = chance.below(3) === 0 ? chance.below(length + 2) : Math.min(near, length);
  return { edit, question: chance.of(names), at };
}

/** A failure with a text that is short enough to look at. */
async function explained(source: Source, text: string, step: Step, problem: string): Promise<string> {
  const again = async (candidate: { text: string; at: number }): Promise<boolean> =>
    (await alone(source, candidate.text, { question: step.question, at: candidate.at })) !== undefined;
  const where = `${source.file}, seed ${seed}, ${step.question} at ${step.at}`;
  if (!(await again({ text, at: step.at })))
    return `${where}: ${problem}\nonly after an edit: ${JSON.stringify(step.edit)} gave\n${JSON.stringify(text)}`;
  const { text: short, at } = await shrink({ text, at: step.at }, again);
  const now = await alone(source, short, { question: step.question, at });
  return `${where}: ${now ?? problem}\nshort: ${JSON.stringify(short)} at ${at}`;
}

async function edited(
  session: Session,
  source: Source,
  chance: Chance,
  others: readonly string[],
  most: number,
): Promise<string[]> {
  const wrong: string[] = [];
  await session.open(source.uri, source.languageId, source.text);
  for (let n = 0; n < Math.min(editsOfOneFile, most); n++) {
    const before = session.texts.get(source.uri) ?? "";
    const step = randomStep(before, chance, others);
    const problem = await attempt(session, source, step);
    if (problem === undefined) continue;
    wrong.push(await explained(source, session.texts.get(source.uri) ?? "", step, problem));
    break;
  }
  await session.close(source.uri);
  if (!(await session.until(() => (session.shown.get(source.uri)?.diagnostics ?? []).length === 0)))
    wrong.push(`${source.file}: diagnostics stay behind when it is closed`);
  return wrong;
}

describe("random edits", () => {
  it(`${edits} of them leave the server as if each text had been the first`, async () => {
    const chance = new Chance(seed);
    const { own, frameworks } = corpus();
    const session = await Session.start();
    const wrong: string[] = [];
    for (let done = 0; done < edits && wrong.length < 5; done += editsOfOneFile) {
      const sources = chance.below(5) < 3 ? own : frameworks;
      const others = [chance.of(sources).text, chance.of(own).text];
      wrong.push(...(await edited(session, chance.of(sources), chance, others, edits - done)));
    }
    session.dispose();
    assert.deepEqual(wrong, []);
  });
});
