/** Tests of rewards as lines of files next to them: what an attack found, and rollouts that a person has pinned. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { testEnding } from "../../../shared/rollouts/expectation.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Hole } from "./attackTasks.ts";
import { ownFile } from "./ownFiles.ts";
import { testOf } from "./rewardTests.ts";

interface SavedTests {
  readonly file: string;
  /** Lines that were not there before. */
  readonly added: number;
}

/** Where tests of a reward's file lie, or of a config's whose rewards have none. */
export const testFileNear = (near: string): string =>
  join(dirname(near), `${basename(near).replace(/(\.gradus)?\.[^.]+$/, "")}${testEnding}`);

/**
 * Next to the term's own file, else next to the config.
 * @param term default: the one that decides a success
 */
export function testFileOf(configFile: string, { reward }: StageBody, term = decisive(reward)): string {
  const own = reward.terms.find(({ name }) => name === term);
  return testFileNear((own && ownFile(own)) ?? configFile);
}
const decisive = (reward: StageBody["reward"]): string | undefined =>
  reward.success.terms?.[0] ?? reward.terms[0]?.name;

/** A test that is there already is not repeated. */
export function addTests(file: string, lines: readonly string[]): SavedTests {
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const fresh = lines.filter((line) => !known.includes(line));
  if (fresh.length > 0)
    appendFileSync(file, `${known === "" || known.endsWith("\n") ? "" : "\n"}${fresh.join("\n")}\n`);
  return { file, added: fresh.length };
}

/** @returns undefined: there is nothing to write */
export function saveTests(
  configFile: string,
  body: StageBody,
  holes: readonly Hole[],
): SavedTests | undefined {
  if (holes.length === 0) return undefined;
  const term = decisive(body.reward);
  return addTests(
    testFileOf(configFile, body, term),
    holes.flatMap(({ examples }) => examples.map((example) => testOf(example, term))),
  );
}
