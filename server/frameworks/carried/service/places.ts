/** What lies where in a project's folder. */
export const serviceFolder = "service";
export const serviceFile = "service.mjs";
export const configFile = "config.gradus.yaml";
export const clientFile = "gradus_curriculum.py";
