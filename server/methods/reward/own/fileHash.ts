/** The hash by which a run remembers the file of a user's reward. None of the file is run. */
import { isPython } from "../../../lib/notebook/notebook.ts";
import { bundleReward } from "./bundleReward.ts";
import { pythonSource } from "./python/source.ts";

/** @throws where it does not exist or is half-written */
export const rewardHash = async (file: string, term = ""): Promise<string> =>
  (isPython(file) ? pythonSource(file, term) : await bundleReward(file, term)).sha256;
