/** Files that test a curriculum, by name. */

export const curriculumTestEnding = ".curriculum.test.yaml";

/** The config that such a file is about where it names none: the one of its name. */
export const curriculumTestedName = (file: string): string =>
  `${file.slice(0, -curriculumTestEnding.length)}.gradus.yaml`;
