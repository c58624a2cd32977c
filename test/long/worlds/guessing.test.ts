/** A tiny policy learns to guess a number. */
import { isLearned, guessing } from "./worlds.ts";

isLearned("guessing", guessing);
