/** The waits of the jobs of a run that wait before they are watched. A run may rest while all of its jobs wait. */
export class Pauses {
	private readonly ends = new Set<{ until: number }>();

	/** Number of jobs that wait. */
	get count(): number {
		return this.ends.size;
	}

	/** When the first of these waits ends, in milliseconds since the Unix epoch; `Infinity` if none has a known end. */
	get earliestEnd(): number {
		return [...this.ends].reduce((earliest, { until }) => Math.min(earliest, until), Infinity);
	}

	/** Declares a wait until a time, in milliseconds since the Unix epoch. Call the returned function when it is over. */
	begin(until: number): () => void {
		const end = { until };
		this.ends.add(end);
		return () => this.ends.delete(end);
	}
}
