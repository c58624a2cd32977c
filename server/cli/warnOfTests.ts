/** Tests of a config's reward, before a run of it starts. */
import { plural } from "../../shared/lib/format.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { complain } from "./command.ts";
import { pathText } from "./text/diagnostics.ts";

/** Says which tests of the reward fail: what trains on it is a person's decision. */
export async function warnOfTests(config: RunConfig, file: string): Promise<void> {
  const [{ runTestsOfConfig }, { AnswerScorer }] = await Promise.all([
    import("../analysis/rewardChecks/configTests.ts"),
    import("../analysis/rewardChecks/answers.ts"),
  ]);
  const { results, broken } = await runTestsOfConfig(config, () => new AnswerScorer(config));
  for (const { message } of broken) complain(`warning: ${visibleText(message)}`);
  const failed = results.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return;
  const [{ place }] = failed as [(typeof failed)[number]];
  complain(
    `warning: ${plural(failed.length, "test")} of the reward ${failed.length === 1 ? "fails" : "fail"}, of ${results.length}. Show them: gradus test ${pathText(place.file)} --config ${pathText(file)}`,
  );
}
