/** What generation shares: the model, its programs and its settings. */
import type { Tokenizer } from "../../core/policy.ts";
import type { Programs } from "../passes/programs.ts";
import type { DeviceTensor, Tensors } from "../devices/runtime.ts";

/** The weights that write, and what they run on. */
export interface Generator {
  readonly programs: Programs;
  readonly weights: Tensors;
  readonly rotary: DeviceTensor;
  readonly tokenizer: Tokenizer;
  readonly bos: number;
  readonly context: number;
  readonly version: number;
  /** Most bytes of the lanes' caches when all are as long as they may become. */
  readonly cache_bytes: number;
}
