#     penalties = []
#     ordered = 0
#     for first, first_label in enumerate(labels):
#         for second, second_label in enumerate(labels):
#             if first_label <= second_label:
#                 continue
#             difference = scores[first] - scores[second]
#             penalties.append(math.log1p(math.exp(margin - difference)))
#             ordered += difference > 0
#     if not penalties:
#         return 0.0, 1.0
#     mean_penalty = sum(penalties) / len(penalties)
#     return mean_penalty, ordered / len(penalties)
