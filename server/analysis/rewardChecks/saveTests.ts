/** What an attack found, as failing tests next to the reward. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Hole } from "./attackTasks.ts";
import { ownFile } from "./ownFiles.ts";
import { testEnding, testOf } from "./rewardTests.ts";

interface SavedTests {
  readonly file: string;
  /** Lines that were not there before. */
  readonly added: number;
}

/**
 * Written next to the reward's own file, else next to the config; a test that is there already is not repeated.
 * undefined: there is nothing to write.
 */
export function saveTests(
  configFile: string,
  { reward }: StageBody,
  holes: readonly Hole[],
): SavedTests | undefined {
  if (holes.length === 0) return undefined;
  const term = reward.success.terms?.[0] ?? reward.terms[0]?.name;
  const own = reward.terms.find(({ name }) => name === term);
  const near = (own && ownFile(own)) ?? configFile;
  const file = join(dirname(near), `${basename(near).replace(/(\.gradus)?\.[^.]+$/, "")}${testEnding}`);
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const fresh = holes
    .flatMap(({ examples }) => examples.map((example) => testOf(example, term)))
    .filter((line) => !known.includes(line));
  if (fresh.length > 0)
    appendFileSync(file, `${known === "" || known.endsWith("\n") ? "" : "\n"}${fresh.join("\n")}\n`);
  return { file, added: fresh.length };
}
