/** prime-rl's settings as they are found, by their dotted keys. */
import type { EngineKeys } from "../../../../core/config/engineKeys.ts";
import { primeRlDefaults } from "./defaults.ts";
import { SettingsDraft } from "../../../lens/exportDraft.ts";

/** What is never written where it is as prime-rl has it: all else is what the algorithm is. */
const optional = /^trainer\.(optim\.(betas[12]|momentum|nesterov)|model\.lora\.dropout)$/;

const keys: EngineKeys = {
  keys: Object.keys(primeRlDefaults),
  has: (key) => key in primeRlDefaults,
  usual: (key) => primeRlDefaults[key],
};

export class PrimeDraft extends SettingsDraft {
  constructor() {
    super("prime-rl", keys, new Set(keys.keys.filter((key) => !optional.test(key))));
  }
}
