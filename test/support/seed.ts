/**
 * Where everything random in the tests comes from: always the same, so that a failure is the change's and not the day's.
 * The nightly run draws one and prints it: `TEST_SEED=123 npm run test:unit` plays it again.
 */
export const testSeed = Number(process.env.TEST_SEED ?? 20_260_101);
