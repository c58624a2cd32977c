/** The config whose reward a file of tests is about. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import { needs } from "../../../config/needs.ts";
import { hasTerms, type RewardTest } from "../../../analysis/rewardChecks/rewardTests.ts";
import { isConfigName } from "../../../config/configKind.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { converts } from "./convertFile.ts";
import { loadFile } from "./load.ts";

/** The nearest config above a test file whose reward has the terms that the tests name. @throws UserError where there is none */
export function testedConfig(file: string, tests: readonly RewardTest[]): RunConfig {
  let folder = dirname(resolve(file));
  for (;;) {
    const names = readdirSync(folder).sort();
    const others = names.filter((name) => converts(join(folder, name)));
    for (const name of [...names.filter(isConfigName), ...others]) {
      const { config } = loadFile(join(folder, name), { needs: needs.served });
      if (config !== undefined && hasTerms(config.top, tests)) return config;
    }
    const above = dirname(folder);
    // A project's own folder is the last that is looked into.
    if (above === folder || existsSync(join(folder, ".git"))) break;
    folder = above;
  }
  const terms = [...new Set(tests.flatMap(({ expect: { term } }) => term ?? []))];
  throw new UserError(`no config near the tests has the reward ${terms.join(", ")}`, {
    file,
    code: "reward-test-config",
    action: "Name the config: gradus test FILE --config CONFIG.",
  });
}
