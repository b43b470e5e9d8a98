/**
 * The seed of everything random in the tests. It is constant, so that a new failure is caused by a code change and not
 * by chance. The nightly run picks a random seed and prints it; `TEST_SEED=123 npx jest` repeats that run.
 */
export const testSeed = Number(process.env.TEST_SEED ?? 20_260_101);
