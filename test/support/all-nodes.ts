import type { INodeType } from 'n8n-workflow';

import { GenerationCredits } from '../../nodes/GenerationCredits/GenerationCredits.node';
import { GenerationModels } from '../../nodes/GenerationModels/GenerationModels.node';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node';
import { WaitForCompletion } from '../../nodes/WaitForCompletion/WaitForCompletion.node';

/** One of each node of the package. */
export const allNodes: INodeType[] = [
	new ImageGeneration(),
	new VideoGeneration(),
	new WaitForCompletion(),
	new GenerationModels(),
	new GenerationCredits(),
];
