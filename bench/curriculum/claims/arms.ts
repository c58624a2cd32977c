/** The lengths of text that the sides train on. */
export const trainedArms: readonly string[] = ["four", "six", "eight", "ten"];
