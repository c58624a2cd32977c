/** A user's reward as one file. */
import { bundleOwn, type Bundle } from "../../../lib/own/bundle.ts";

/** @param unsaved the file's text as it is in an editor */
export const bundleReward = (file: string, term: string, unsaved?: string): Promise<Bundle> =>
  bundleOwn(
    file,
    { what: `reward term "${term}"`, key: "use", missing: "reward-missing", build: "reward-build" },
    unsaved,
  );
