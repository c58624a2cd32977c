/** A tiny policy learns to walk in a grid world. */
import { isLearned, walking } from "./worlds.ts";

// Of five seeds all learn; three of them take half an hour here.
isLearned("walking", walking, [1, 2, 3]);
