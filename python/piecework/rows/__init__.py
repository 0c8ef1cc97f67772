"""What batches and encodings are made of: columns of texts, rectangles, word ids, offsets in other units."""
