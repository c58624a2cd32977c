/** A tiny policy learns to walk in a grid world. */
import { isLearned, walking } from "./worlds.ts";

// Of five seeds all learn; two of them take twenty minutes here.
isLearned("walking", walking, [1, 2]);
